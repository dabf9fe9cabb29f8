/** Given and family names in many scripts, as in a CRM, with the country's currency, time zone and phone formats. */

export interface Culture {
  readonly country: string;
  readonly currency: string;
  readonly timezone: string;
  readonly given: readonly string[];
  readonly family: readonly string[];
  /** `#` is a digit. Numbers reserved for fiction if a country has some, otherwise numbers that are not in use. */
  readonly phones: readonly string[];
}

const names = (text: string): readonly string[] => text.split(' ');

export const cultures: readonly Culture[] = [
  {
    country: 'United States',
    currency: 'USD',
    timezone: 'America/New_York',
    given: names('Ava Noah Mia Liam Zoe Ethan Ruth Caleb Iris Owen Hazel Miles'),
    family: names("Whitfield Castellane O'Rourke Haverford Lindqvist Marlowe Pemberton Sayre Tolliver Vance"),
    phones: ['+1 202 555 01##', '(415) 555-01##', '312-555-01##', '+1 (303) 555-01## ext. 4#', '2125550#1#'],
  },
  {
    country: 'United Kingdom',
    currency: 'GBP',
    timezone: 'Europe/London',
    given: names('Imogen Rhys Saoirse Callum Freya Alistair Niamh Tobias Elspeth Gwen'),
    family: names('Ashdown Featherstone Kilbride Llewellyn Northcote Penhaligon Ravenscroft Thackeray Wetherby'),
    phones: ['+44 20 7946 0###', '020 7946 0###', '+44 (0)161 496 0###', '07700 900###'],
  },
  {
    country: 'Germany',
    currency: 'EUR',
    timezone: 'Europe/Berlin',
    given: names('Jürgen Käthe Björn Anneliese Götz Mareike Sören Lieselotte Änne Torben'),
    family: names('Müller-Lüdenscheid Großkopf Schäfer Weißenborn Köhlmann Überacker Brandstätter Jäkel Löwenzahn'),
    phones: ['+49 30 23125 ###', '030/23125-###', '0049 89 99998 ###', '(0221) 4710 ###'],
  },
  {
    country: 'France',
    currency: 'EUR',
    timezone: 'Europe/Paris',
    given: names('Zoé Théo Anaïs Gaël Chloé Loïc Hélène Benoît Maëlle François'),
    family: names("Lefèvre D'Aubigné Beaurépaire Côtelette Garçonnet Noël-Marchand Pérignac Vaucluse"),
    phones: ['+33 1 99 00 ## ##', '01 99 00 ## ##', '01.99.00.##.##'],
  },
  {
    country: 'Mexico',
    currency: 'MXN',
    timezone: 'America/Mexico_City',
    given: names('Sofía Iñaki Begoña Andrés Ximena Joaquín Inés Raúl Lucía Martín'),
    family: names('Núñez Ibáñez Castañeda Peñaranda Quiñónez Zúñiga Bermúdez Villagrán'),
    phones: ['+52 55 0000 ####', '(55) 0000-####', '55 0000 ####'],
  },
  {
    country: 'Poland',
    currency: 'PLN',
    timezone: 'Europe/Warsaw',
    given: names('Łucja Paweł Żaneta Michał Bożena Świętosław Małgorzata Grzegorz'),
    family: names('Wiśniowiecki Brzęczyszczykiewicz Śliwińska Żółtowski Łączkowski Dąbrówka Ćwikła'),
    phones: ['+48 22 000 ## ##', '22-000-##-##'],
  },
  {
    country: 'Türkiye',
    currency: 'TRY',
    timezone: 'Europe/Istanbul',
    given: names('Işıl Çağlar Şebnem Oğuz İpek Gülşah Tuğçe Ümit'),
    family: names('Yıldızoğlu Gümüşkaya Çelikkol Şahinbaş Akçadağ Öztürkmen Irmakçı'),
    phones: ['+90 212 000 ## ##', '0 (212) 000 ## ##'],
  },
  {
    country: 'Viet Nam',
    currency: 'VND',
    timezone: 'Asia/Ho_Chi_Minh',
    given: names('Thảo Đức Hạnh Quỳnh Tuấn Ngọc Bảo Yến'),
    family: names('Nguyễn Trần Phạm Đặng Vũ Bùi Huỳnh'),
    phones: ['+84 24 0000 ####', '024 0000 ####'],
  },
  {
    country: 'Greece',
    currency: 'EUR',
    timezone: 'Europe/Athens',
    given: names('Ελένη Γιώργος Δέσποινα Νίκος Αθηνά Στέλιος'),
    family: names('Παπαλεξίου Καραβάς Μαυρομάτη Δελαγραμμάτης Χρυσοχόου'),
    phones: ['+30 21 0000 ####'],
  },
  {
    country: 'Ukraine',
    currency: 'UAH',
    timezone: 'Europe/Kyiv',
    given: names('Олена Тарас Соломія Богдан Ярина Остап'),
    family: names('Калинюк Верховинець Соловій Чорновус Ґрунтенко'),
    phones: ['+380 44 000 ## ##', '(044) 000-##-##'],
  },
  {
    country: 'Japan',
    currency: 'JPY',
    timezone: 'Asia/Tokyo',
    given: names('さくら 陽翔 結衣 蓮 美咲 大和'),
    family: names('白川 月島 水無瀬 東雲 小鳥遊 桜庭'),
    phones: ['+81 3 0000 ####', '03-0000-####'],
  },
  {
    country: 'South Korea',
    currency: 'KRW',
    timezone: 'Asia/Seoul',
    given: names('서연 민준 지우 하은 도윤 수아'),
    family: names('남궁 제갈 황보 선우 독고 사공'),
    phones: ['+82 2 000 ####', '02-000-####'],
  },
  {
    country: 'Egypt',
    currency: 'EGP',
    timezone: 'Africa/Cairo',
    given: names('ليلى يوسف نور طارق سلمى كريم'),
    family: names('الزهراني المنشاوي القناوي البدراوي الشرقاوي'),
    phones: ['+20 2 0000 ####'],
  },
  {
    country: 'India',
    currency: 'INR',
    timezone: 'Asia/Kolkata',
    given: names('अनन्या विवान दीया आरव मीरा कबीर'),
    family: names('चतुर्वेदी देशपांडे कुलकर्णी त्रिपाठी भट्टाचार्य'),
    phones: ['+91 22 0000 ####', '022-0000####'],
  },
  {
    country: 'Iceland',
    currency: 'ISK',
    timezone: 'Atlantic/Reykjavik',
    given: names('Þóra Örn Æsa Guðrún Hjörtur Sólveig'),
    family: names('Þorvaldsdóttir Hallgrímsson Æsudóttir Brynjólfsson'),
    phones: ['+354 000 ####', '000-####'],
  },
];
